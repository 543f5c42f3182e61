"""How a build is made: the plan, the tasks, and what runs them."""
