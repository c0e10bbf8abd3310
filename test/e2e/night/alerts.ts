import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { isInstalled, SERVER_PATH } from "../../support/server-path.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const run = promisify(execFile);

const RULES = fileURLToPath(new URL("../../../templates/operations/alerts.yml", import.meta.url));
const PAGE = fileURLToPath(new URL("../../../docs/operate/alerts.md", import.meta.url));

export const hasPromtool: boolean = isInstalled(["promtool", "--version"]);

/**
 * Returns the alerts that fire in a minute. Prometheus itself evaluates the shipped rules. promtool reports an alert
 * only if the alert is unexpected, so the test expects an alert that does not exist.
 */
export async function firing(
  series: readonly object[],
  minute: number,
): Promise<readonly string[]> {
  const file = join(temporaryFolder(), "night.yml");
  const test = {
    interval: "1m",
    input_series: series,
    promql_expr_test: [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: `${minute}m`,
        exp_samples: [{ labels: '{alertname="nobody"}', value: 1 }],
      },
    ],
  };
  const rules = { rule_files: [RULES], evaluation_interval: "1m", tests: [test] };
  writeFileSync(file, stringify(rules, { lineWidth: 0 }));
  const env = { ...process.env, PATH: SERVER_PATH };
  const complaint = await run("promtool", ["test", "rules", file], { env }).then(
    () => "",
    ({ stdout, stderr }: { stdout: string; stderr: string }) => `${stdout}${stderr}`,
  );
  const [, got] = complaint.split(/\bgot:/);
  if (got === undefined)
    throw new Error(`promtool did not report the firing alerts:\n${complaint}`);
  return [...got.matchAll(/alertname="(\w+)"/g)].map(([, name = ""]) => name).sort();
}

/** Returns the causes in the page's table, each with its alerts. */
export function documentedCauses(): readonly (readonly [cause: string, readonly string[]])[] {
  const rows = readFileSync(PAGE, "utf8").matchAll(/^\| ([^|]+) \| (\[ServiceBot[^|]+) \|/gm);
  return [...rows].map(([, cause = "", alerts = ""]) => [
    cause,
    [...alerts.matchAll(/\[(ServiceBot\w+)\]/g)].map(([, name = ""]) => name).sort(),
  ]);
}
