"""How each shipped table and network was made."""

from gin_env.game.rules import Rules


def rules_option(rules: Rules | None) -> str:
    """Return the option for these rules at the end of a command; an empty text for the default.

    >>> rules_option(Rules(knock_limit=7)), rules_option(None)
    (' --rules knock_limit=7', '')
    """
    return "" if rules in (None, Rules()) else f" --rules {rules.text}"
