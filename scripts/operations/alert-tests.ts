import { type AlertCase, alertCases } from "./alert-cases.ts";

const FIRING = 'count by (alertname, severity) (ALERTS{alertstate="firing"})';

/** Returns the tests of the alerts for promtool. They are built into the package, not committed. */
export function alertTests(): string {
  return [
    "# Run with: promtool test rules alerts.test.yml",
    "rule_files:",
    "  - alerts.yml",
    "",
    "evaluation_interval: 1m",
    "",
    "tests:",
    alertCases.map(caseText).join("\n\n"),
    "",
  ].join("\n");
}

function caseText({ name, series = {}, instances = { bot: series }, firing }: AlertCase): string {
  return [
    `  - name: ${name}`,
    "    interval: 1m",
    "    input_series:",
    ...Object.entries(instances).flatMap(([instance, own]) =>
      Object.entries({ up: "1x1500", ...own }).flatMap(([metric, values]) => [
        `      - series: '${withLabels(metric, instance)}'`,
        `        values: ${values}`,
      ]),
    ),
    "    promql_expr_test:",
    ...Object.entries(firing).flatMap(([time, alerts]) => [
      `      - expr: ${FIRING}`,
      `        eval_time: ${time}`,
      ...samples(alerts),
    ]),
  ].join("\n");
}

/** @param metric a name, and labels in braces if there are any */
function withLabels(metric: string, instance: string): string {
  const [name, more = "}"] = metric.split("{");
  const labels = more === "}" ? more : `, ${more}`;
  return `${name}{job="service-bot", instance="${instance}"${labels}`;
}

function samples(alerts: readonly string[]): readonly string[] {
  if (alerts.length === 0) return ["        exp_samples: []"];
  const counts = Map.groupBy(alerts, (alert) => alert);
  return [
    "        exp_samples:",
    ...[...counts].flatMap(([alert, { length }]) => {
      const [name, severity] = alert.split(" ");
      return [
        `          - labels: '{alertname="${name}", severity="${severity}"}'`,
        `            value: ${length}`,
      ];
    }),
  ];
}
