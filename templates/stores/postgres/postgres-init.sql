-- Runs once in a new volume. The bot owns its database but is not a superuser. The superuser cannot log in over the network.
\getenv password POSTGRES_PASSWORD
CREATE ROLE bot LOGIN PASSWORD :'password';
CREATE DATABASE bot OWNER bot;
ALTER ROLE postgres PASSWORD NULL;
