"""From a query to the ordinals of products."""
