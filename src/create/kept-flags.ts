import { UsageError } from "./errors.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** How npm hands on the flags that it took for its own, by their names here. */
const traces: Readonly<Record<string, (env: Env) => boolean>> = {
  template: ({ npm_config_template: value }) => value !== undefined,
  store: ({ npm_config_store: value }) => value !== undefined,
  pm: ({ npm_config_pm: value }) => value !== undefined,
  "service-bot": ({ npm_config_service_bot: value }) => value !== undefined,
  install: ({ npm_config_install: value }) => value === "true",
  "no-install": ({ npm_config_install: value }) => value === "false",
  git: ({ npm_config_git: value }) => value === "true",
  "no-git": ({ npm_config_git: value }) => value === "false",
};

/**
 * Refuses a command line that npm has taken apart: without a `--` before them, npm keeps the flags and
 * leaves their values among the arguments.
 *
 * @param said the flags that have come through
 * @throws {UsageError}
 */
export function refuseKeptFlags(env: Env, said: ReadonlySet<string>): void {
  if (!env["npm_config_user_agent"]?.startsWith("npm/")) return;
  const kept = Object.keys(traces).filter((name) => !said.has(name) && traces[name]?.(env));
  if (kept.length === 0) return;
  const flags = kept.map((name) => `--${name}`);
  throw new UsageError(
    `npm has kept ${flags.join(", ")} for itself. Flags go behind a "--" of their own: ` +
      `npm create service-bot@latest my-bot -- ${flags[0]} …`,
  );
}

/** True when npm was told to ask nothing: `npm create service-bot my-bot --yes`. */
export function npmSaidYes(env: Env): boolean {
  return env["npm_config_yes"] === "true";
}
