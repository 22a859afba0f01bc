"""Install agents/ and wrappers/ as gin_env.agents and gin_env.wrappers; all else is in pyproject.toml."""

from setuptools import find_namespace_packages, setup

FOLDERS = ("agents", "wrappers")

setup(
    packages=[
        *find_namespace_packages(include=["gin_env*"]),
        *(
            f"gin_env.{name}"
            for name in find_namespace_packages(include=[f"{folder}*" for folder in FOLDERS])
        ),
    ],
    package_dir={f"gin_env.{folder}": folder for folder in FOLDERS},
)
