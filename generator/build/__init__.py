"""Make a build: the plan, its tasks, and what runs them. See README.md."""
