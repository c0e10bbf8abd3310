import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import type { Tool } from "../../support/tool.ts";

interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "INFO" | "WARNING" | "SKIPPED" | "FAILURE";
  readonly errorMessage?: string;
  readonly details?: unknown;
}

export type Problems = Readonly<Record<string, string>>;

export async function scenariosOf(suite: Tool): Promise<ReadonlyMap<string, readonly string[]>> {
  const { code, output } = await suite.run(["list", "--server"]);
  if (code !== 0) throw new Error(`The scenarios cannot be listed:\n${output}`);
  const found = output.matchAll(/^ +- (\S+) \[(.*)\]$/gm);
  return new Map([...found].map(([, name = "", tags = ""]) => [name, tags.split(",")]));
}

export async function runSuite(
  suite: Tool,
  url: string,
  revision: string,
): Promise<ReadonlyMap<string, Problems>> {
  const folder = join(temporaryFolder(), "results");
  const which = ["--suite", "all", "--spec-version", revision];
  // Ignore the exit code, which also reflects scenarios that do not apply.
  const { output } = await suite.run(["server", "--url", url, ...which, "--output-dir", folder]);
  try {
    return new Map(
      readdirSync(folder).map((each) => {
        const checks = JSON.parse(readFileSync(join(folder, each, "checks.json"), "utf8"));
        return [each.replace(/^server-|-\d{4}-\d\d-\d\dT.*$/g, ""), problemsOf(checks)];
      }),
    );
  } catch (error) {
    throw new Error(`The suite wrote no results:\n${output}`, { cause: error });
  }
}

function problemsOf(checks: readonly Check[]): Problems {
  if (!checks.some(({ status }) => status === "SUCCESS")) return { nothing: "No check passed" };
  const problems = checks.filter(({ status }) => status !== "SUCCESS" && status !== "INFO");
  return Object.fromEntries(
    problems.map(({ id, status, errorMessage, details }) => [
      id,
      `${status}: ${errorMessage ?? JSON.stringify(details)}`,
    ]),
  );
}
