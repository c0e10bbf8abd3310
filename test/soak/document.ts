import type { Report } from "./report.ts";
import type { SoakRun } from "./soak.ts";
import type { Judgement, Verdict } from "./verdict.ts";

/** The columns of the figures, for people and for a page. */
const HEAD = [
  "what",
  "unit",
  "2nd quarter",
  "last quarter",
  "trend per hour",
  "allowed",
  "highest",
  "",
];

/** A run as Markdown: where it comes from, what was done, and a line for each series. */
export function documentOf(report: Report & { readonly run: SoakRun }, verdict: Verdict): string {
  const { at, environment, seed, rate, minutes } = report;
  const options = { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" } as const;
  const day = new Date(at).toLocaleDateString("en-GB", options);
  const command = `npm run soak -- --minutes ${minutes} --rate ${rate} --seed ${seed}`;
  return [
    `\`${command}\` on ${day}: Node ${environment.node.slice(1)}, ${environment.cores} cores.`,
    told(report.run).join("\n"),
    table(verdict.judgements),
    ...(verdict.pins.length === 0 ? [] : [pins(verdict).join("\n")]),
    `![Memory, WAL, file, handles and events of these ${minutes} minutes, and what happened when](images/soak.svg)`,
  ].join("\n\n");
}

/** What was done and what came of it, for people who wait. */
export function told({
  events,
  answered,
  hopeless,
  decided,
  faulted,
  violations,
  spans,
}: SoakRun): string[] {
  const { discarded, retried, settled } = decided;
  const n = (value: number) => value.toLocaleString("en-US");
  return [
    `- ${n(events)} events; ${n(answered)} answered, ${n(hopeless)} hopeless; ${n(violations.length)} lost, repeated or unexpected.`,
    `- ${n(spans.length)} spans of faults and pinned readers; ${n(faulted)} requests to the API refused, held, or without an answer.`,
    `- Dead letters by \`service-bot inbox\`: ${n(discarded)} discarded, ${n(retried)} retried, ${n(settled)} retried with \`--assume\`.`,
  ];
}

/** Markdown. */
export function table(judgements: readonly Judgement[]): string {
  const rule = HEAD.map((_, column) => (column > 1 && column < 7 ? "---:" : "---"));
  const rows = judgements.map((each) => [
    each.name,
    each.unit,
    ...[each.second, each.last].map(figure),
    signed(each.perHour),
    signed(each.allowed),
    figure(each.most),
    result(each),
  ]);
  return [HEAD, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

export function pins({ pins: all }: Verdict): string[] {
  return all.map(({ before, most, after, held }, nth) => {
    const sizes = `${figure(before)} MiB before, up to ${figure(most)} MiB, ${figure(after)} MiB after it`;
    return `- WAL and pinned reader ${nth + 1}: ${sizes}${held ? "" : ": **it did not grow, or did not come back**"}.`;
  });
}

function result({ counts, reached }: Judgement): string {
  if (!counts) return "run too short";
  return reached ? "plateau" : "**rises**";
}

function signed(value: number): string {
  return Number.isNaN(value) ? figure(value) : `${value < 0 ? "−" : "+"}${figure(Math.abs(value))}`;
}

function figure(value: number): string {
  if (Number.isNaN(value)) return "–";
  return value.toLocaleString("en-US", { maximumFractionDigits: 1, minimumFractionDigits: 1 });
}
