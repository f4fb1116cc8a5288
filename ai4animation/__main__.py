"""``python -m ai4animation`` is the command ``ai4animation``."""

from .cli.app import main

main()
