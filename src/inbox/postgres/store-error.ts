import { codeOf, messageOf, ServiceBotError } from "../../errors.ts";
import type { StoreFailure } from "../../observe/channels.ts";

/** True for an error that the server reports and after which the connection goes on. Its code has five characters. */
export function isOfTheServer(error: unknown): boolean {
  if (error instanceof ServiceBotError) return true;
  const code = codeOf(error);
  // 57P01 to 57P03: the server stops or starts, and takes the connection with it. Class 08: a pooler has lost its own.
  return /^[0-9A-Z]{5}$/.test(code) && !/^(57P|08)/.test(code);
}

/** The kind of a failure that the driver throws. */
export function failureOf(error: unknown): StoreFailure {
  if (codeOf(error) === DISK_FULL) return "disk_full";
  return isOfTheServer(error) ? "broken" : "away";
}

/**
 * Makes STORE_UNAVAILABLE of everything that the driver throws; the project's own errors stay as they are. The cause is
 * left out, because the server quotes in it what was to be stored.
 */
export function asStoreError(error: unknown): ServiceBotError {
  if (error instanceof ServiceBotError) return error;
  const code = codeOf(error);
  const why = messageOf(error) || code;
  return new ServiceBotError(
    "STORE_UNAVAILABLE",
    `The inbox in PostgreSQL cannot be used: ${why}${code === "" || why === code ? "" : ` (${code})`}.${remedyOf(error)}`,
  );
}

const CORRECT = "or correct DATABASE_URL.";
const DISK_FULL = "53100";
const NO_HOST = "The name of the host is not known: correct DATABASE_URL.";

/** Remedies for the usual errors, by the codes of Node and of PostgreSQL. */
const remedies: Readonly<Record<string, string>> = {
  ECONNREFUSED: `Nothing listens there: start PostgreSQL, ${CORRECT}`,
  ENOTFOUND: NO_HOST,
  EAI_AGAIN: NO_HOST,
  "28P01": "Correct the password, in DATABASE_URL or PGPASSWORD.",
  "28000": `Let the server's pg_hba.conf admit the bot, ${CORRECT}`,
  "3D000": `Make the database (createdb), ${CORRECT}`,
  [DISK_FULL]: "Free some space on the database's disk.",
};

function remedyOf(error: unknown): string {
  // The driver has no code for a server that asks for a password when there is none.
  const asked = messageOf(error).startsWith("SASL");
  const remedy = asked
    ? "Set the password, in DATABASE_URL or PGPASSWORD."
    : remedies[codeOf(error)];
  return remedy === undefined ? "" : ` ${remedy}`;
}
