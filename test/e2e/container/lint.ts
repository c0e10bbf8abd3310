import { validate } from "dockerfile-utils";
import { run } from "dockerfilelint";

/**
 * What two linters say of a Dockerfile: dockerfile-utils of its syntax, dockerfilelint of what is written in it, such as
 * `latest`, or `apt-get install` that would ask.
 */
export function complaintsAbout(dockerfile: string): string[] {
  const syntax = validate(dockerfile).map(({ message, range }) =>
    told(range.start.line + 1, message),
  );
  // dockerfilelint reads `--start-period` as an unknown `--start`; dockerfile-utils has looked at it.
  const readable = dockerfile.replace(/ --start-period=\S+/g, "");
  // The folder has no settings for it, and the rules are its own.
  const habits = run(import.meta.dirname, readable).map(({ line, title }) => told(line, title));
  return [...syntax, ...habits];
}

function told(line: number, what: string | { readonly value: string }): string {
  return `${line}: ${typeof what === "string" ? what : what.value}`;
}
