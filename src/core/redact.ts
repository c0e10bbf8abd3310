const MARK = "[redacted]";

/** Shorter texts ("hi", "ok") occur by chance in any line and hide nothing when they are cut out. */
const SHORTEST = 4;

/** Makes a function that takes every one of these values out of a text. */
export function scrubber(values: readonly string[]): (text: string) => string {
  // The longest first: one that begins like another would leave the rest of it standing.
  const hidden = values
    .filter((value) => value.length >= SHORTEST)
    .sort((a, b) => b.length - a.length);
  return (text) => hidden.reduce((rest, value) => rest.replaceAll(value, MARK), text);
}

/** The fields that hold texts of people or secrets, at the top of a log record and one level down. */
const fields = [
  "payload",
  "text",
  "excerpt",
  "body",
  "apiKey",
  "secret",
  "secrets",
  "webhookSecret",
  "webhookSecrets",
  "authorization",
  "signature",
];

/** What pino takes out of log records, so that `log.info({ event })` in a handler shows no message. */
export const redaction: { readonly paths: string[]; readonly censor: string } = {
  paths: [...fields, ...fields.map((field) => `*.${field}`), 'headers["x-service-signature"]'],
  censor: MARK,
};
