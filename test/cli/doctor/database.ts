import { expect } from "vitest";
import type { Finding } from "../../faces/cli.ts";
import type { CommandOptions } from "../command.ts";
import { examine } from "./examine.ts";

/** Returns the findings about a database when no other settings are present. */
export async function examineDatabase(
  env: { readonly DATABASE_URL: string; readonly DATABASE_SCHEMA?: string },
  options?: CommandOptions,
): Promise<readonly Finding[]> {
  const { findings } = await examine(env, options);
  return findings.filter(({ area }) => area === "database");
}

export function okFindings(what: string): object[] {
  return [{ area: "database", level: "ok", what }];
}

export function failFindings(what: RegExp, remedy: RegExp): object[] {
  const words = { what: expect.stringMatching(what), remedy: expect.stringMatching(remedy) };
  return [{ area: "database", level: "fail", ...words }];
}
