import { builtinModules } from "node:module";
import { UsageError } from "./errors.ts";

/** Windows keeps these for devices, with any extension. A repository should be usable there too. */
const device = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$)(?:\.|$)/i;

/** npm refuses the first two; the others are what the bot depends on. */
const taken = [
  "node_modules",
  "favicon.ico",
  "service-bot",
  "node",
  "pg",
  "pino-pretty",
  "typescript",
];

const LONGEST = 214;

/**
 * The package name for a directory: "My Bot!" becomes `my-bot`.
 *
 * @param base the last part of the directory's path
 * @throws {UsageError} when no usable name can be made of it
 */
export function packageName(base: string): string {
  const name = isPlain(base) ? base : slug(base);
  if (name === "") {
    throw new UsageError(
      `No package name can be made of ${JSON.stringify(base)}. ` +
        "Use a directory whose name has latin letters or digits, such as my-bot.",
    );
  }
  refuseDevice(base);
  refuseDevice(name);
  const suggestion = suggest(name);
  if (taken.includes(name)) {
    throw new UsageError(`The name ${name} is taken: a bot cannot be called so. ${suggestion}`);
  }
  if (builtinModules.includes(name)) {
    throw new UsageError(
      `Node has a module called ${name}, so npm takes no such name. ${suggestion}`,
    );
  }
  if (name.length > LONGEST) {
    throw new UsageError(
      `The name has ${name.length} characters, and npm takes at most ${LONGEST}. Choose a shorter one.`,
    );
  }
  return name;
}

/** @throws {UsageError} when Windows has a device of this name */
export function refuseDevice(name: string): void {
  if (!device.test(name)) return;
  throw new UsageError(
    `Windows keeps the name ${JSON.stringify(name)} for itself. ${suggest(slug(name))}`,
  );
}

function suggest(name: string): string {
  return `Choose another directory, such as my-${name.replace(/\..*$/, "")}.`;
}

function isPlain(base: string): boolean {
  return /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/.test(base);
}

function slug(base: string): string {
  return base
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, "-")
    .replace(/^[._-]+|[._-]+$/g, "");
}
