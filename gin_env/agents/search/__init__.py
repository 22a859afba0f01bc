"""The bot that looks ahead, and the belief it samples deals from."""
