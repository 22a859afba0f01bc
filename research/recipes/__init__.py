"""How each shipped table and network was made."""
