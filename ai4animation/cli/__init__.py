"""The command line: ``app`` declares the commands, one module each does their work."""
