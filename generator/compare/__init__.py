"""One comparison of two builds: gates, the documents of /changes, the diff and the figures of a night read it."""
