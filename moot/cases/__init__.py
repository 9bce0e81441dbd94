"""What the application does with one kind of case: hold it without a society around it, record it, show it."""
