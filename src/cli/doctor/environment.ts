import { statSync } from "node:fs";
import { getCACertificates } from "node:tls";
import { budgetProblems } from "../../bot/warnings.ts";
import { type Config, loadConfig, removedVariables, variables } from "../../config.ts";
import { isSentInClear } from "../../core/addresses.ts";
import { showDatabase } from "../../core/database-address.ts";
import { lastFour } from "../../core/secrets.ts";
import { ConfigError, messageOf } from "../../errors.ts";
import { CONTROL_TOKEN_VARIABLE, readDotEnv } from "../environment.ts";
import { type Finding, findingsOf } from "./finding.ts";

const { ok, note, warn, fail } = findingsOf("environment");

const known = variables;

const sources: Readonly<Record<string, string>> = {
  SERVICE_BASE_URL: "the platform's URL, such as http://127.0.0.1:4400 for the local platform",
  SERVICE_API_KEY: "the bot's token, from the developer portal",
  SERVICE_WEBHOOK_SECRET:
    "the webhook's secret (whsec_…), from the developer portal; DELIVERY=polling needs none",
};

export interface Environment {
  readonly findings: readonly Finding[];
  /** `undefined` if a variable is missing or invalid. */
  readonly config: Config | undefined;
}

export function checkEnvironment(): Environment {
  const before = { ...process.env };
  const read = readFiles();
  if (!("values" in read)) return { findings: [read], config: undefined };
  const { config, problems } = load();
  const findings = [
    ...aboutFile(read.values),
    ...overruled(before, read.values),
    ...unknown(problems),
    ...aboutAuthorities(process.env["NODE_EXTRA_CA_CERTS"]),
    ...removedVariables(process.env).map(({ variable, remedy }) =>
      note(`${variable} is no longer read`, remedy),
    ),
    ...(config === undefined ? problems.map(problem) : settings(config, read.values)),
  ];
  return { findings, config };
}

function load(): { readonly config: Config | undefined; readonly problems: readonly string[] } {
  try {
    return { config: loadConfig(process.env), problems: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { config: undefined, problems: error.problems };
  }
}

type Values = Readonly<Record<string, string | undefined>>;

function readFiles(): { readonly values: Values | undefined } | Finding {
  try {
    return { values: readDotEnv() };
  } catch (error) {
    return fail(
      `cannot read .env: ${messageOf(error)}`,
      "Make .env readable by the user that runs the bot.",
    );
  }
}

function aboutFile(values: Values | undefined): Finding[] {
  if (values === undefined) {
    return [
      note(
        "this folder has no .env; only the environment is used",
        "Copy .env.example to .env, unless the variables are set elsewhere.",
      ),
    ];
  }
  const { mode } = statSync(".env");
  if (process.platform === "win32" || (mode & 0o077) === 0) return [ok(".env is read")];
  return [
    note(
      ".env holds secrets, and other users of this machine can read it",
      "Run `chmod 600 .env`.",
    ),
  ];
}

/** Reports variables set in both places, because a change to `.env` would have no effect. */
function overruled(before: Values, file: Values = {}): Finding[] {
  return known
    .filter((name) => isSet(before[name]) && isSet(file[name]) && before[name] !== file[name])
    .map((name) =>
      note(
        `${name} is set in the environment, so its value in .env is ignored`,
        "Unset the variable, or remove it from .env.",
      ),
    );
}

/** Reports unknown variables with the bot's prefix, unless a configuration problem already names them. */
function unknown(problems: readonly string[]): Finding[] {
  // `service-bot trigger` reads the control token.
  const named = new Set([
    CONTROL_TOKEN_VARIABLE,
    ...known,
    ...problems.flatMap((text) => text.split(/\W+/)),
  ]);
  const own = known.filter((name) => name.startsWith("SERVICE_")).join(", ");
  return Object.keys(process.env)
    .filter((name) => name.startsWith("SERVICE_") && !named.has(name))
    .map((name) =>
      note(
        `${name} is set, but the bot does not read it`,
        `Check the spelling. Known variables: ${own}.`,
      ),
    );
}

/** Reports a file of certificate authorities that Node has not loaded, of which Node's own warning is easy to miss. */
function aboutAuthorities(file: string | undefined): Finding[] {
  if (file === undefined || !isSet(file) || getCACertificates("extra").length > 0) return [];
  return [
    note(
      `NODE_EXTRA_CA_CERTS names ${file}, but Node has loaded no certificate from it`,
      "Set it in the environment, because Node reads it before .env. If it is set there, check the file.",
    ),
  ];
}

function problem(text: string): Finding {
  const [name = ""] = text.split(" ", 1);
  const source = text.endsWith(" is missing") ? sources[name] : undefined;
  const remedy =
    source === undefined
      ? "Change it in .env or in the environment."
      : `Add it to .env: ${source}.`;
  return fail(text, remedy);
}

function settings(config: Config, file: Values = {}): Finding[] {
  const set = known.filter((name) => isSet(process.env[name]));
  const rest = known.filter((name) => !set.includes(name));
  const lines = set.map((name) => {
    const origin = file[name]?.trim() === process.env[name]?.trim() ? ".env" : "environment";
    return ok(`${name} ${describeValue(name, config)} (${origin})`);
  });
  const budget = budgetProblems(config).map(({ perMinute, places, variable, intervalMs, wanted }) =>
    note(
      `MAX_REQUESTS_PER_MINUTE=${perMinute} leaves ${places} requests for reading the event log; ${variable}=${intervalMs} needs ${wanted} or more`,
      "Raise MAX_REQUESTS_PER_MINUTE up to the app's limit, or raise the interval.",
    ),
  );
  return [...lines, ok(`default values: ${rest.join(", ")}`), ...aboutAddress(config), ...budget];
}

function aboutAddress({ baseUrl }: Config): Finding[] {
  if (!isSentInClear(baseUrl)) return [];
  return [
    warn(
      `${baseUrl} is plain http, so others can read the token on the network`,
      "Set SERVICE_BASE_URL to the platform's https URL.",
    ),
  ];
}

function describeValue(name: string, config: Config): string {
  const { apiKey, webhookSecrets, statusToken = "" } = config;
  if (name === "SERVICE_API_KEY") return describeSecrets([apiKey]);
  if (name === "SERVICE_WEBHOOK_SECRET") return describeSecrets(webhookSecrets);
  if (name === "STATUS_TOKEN") return describeSecrets([statusToken]);
  const value = name === "DATABASE_URL" ? showDatabase(config.database) : process.env[name];
  return `= ${value}`;
}

/** Shows the secrets' last four characters, to distinguish them during a rotation. */
function describeSecrets(secrets: readonly string[]): string {
  const ends = secrets.map(lastFour).map((end) => (end === undefined ? "a short one" : `…${end}`));
  if (secrets.length > 1) return `has ${secrets.length} secrets: ${ends.join(", ")}`;
  return ends[0]?.startsWith("…") ? `is set: ${ends[0]}` : "is set";
}

function isSet(value: string | undefined): boolean {
  return (value ?? "").trim() !== "";
}
