"""Tables, components, worlds, systems and the modes that drive them."""
