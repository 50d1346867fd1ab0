"""The server that loads a Python handler and answers its calls. Standard library only."""
