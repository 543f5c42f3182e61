"""The making of a build: its plan, tasks, layers and runners. See README.md."""
