import { OLDEST_NODE, packageManagers, stores, templates } from "./choices.ts";

/** What `--help` prints. */
export const help: string = `Makes a bot that runs.

  npm create service-bot@latest my-bot
  npm create service-bot@latest my-bot -- --pm pnpm --no-git

Usage: create-service-bot [DIR] [flags]    ("." is the current directory)

  --template NAME      ${templates.join(", ")} (default ${templates[0]})
  --store NAME         ${stores.join(", ")} (default ${stores[0]})
  --pm NAME            ${packageManagers.join(", ")} (default: the one that started this)
  --install            install the dependencies (default)
  --no-install         write the files and stop there
  --git                git init and a first commit (default)
  --no-git             neither of them
  --service-bot SPEC   the version of service-bot to depend on (a file: path counts from DIR)
  --yes, -y            take the defaults, ask nothing
  --dry-run            list what would be written
  --json               one JSON object on standard output, at the end; asks nothing
  --help, -h  --version, -v

At a terminal it asks for what no flag has said. Without one, in CI and under an agent it asks nothing,
takes the defaults and prints them; DIR has none.

Never writes over a file, and removes none but its own when it cannot finish writing. Bots need Node
${OLDEST_NODE} or newer; where yours is older, the bot gets a newer one as a devDependency.

Exit codes: 0 done, 2 wrong usage with nothing written, 130 cancelled (Ctrl-C, Esc), 1 anything else.
`;
