import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import type { Profiler } from "node:inspector";
import { fileURLToPath } from "node:url";

/** Folder of the last CPU profiles, in the format that Chromium and speedscope read. */
export const PROFILES: string = fileURLToPath(new URL("../results/profiles/", import.meta.url));

const ROOT = new URL("../../", import.meta.url).href;

/** Maximum rows per table. */
const GROUPS = 24;
const FUNCTIONS = 40;

/** V8 attributes idle time to this pseudo-function. */
const IDLE = "(idle)";

interface Place {
  /** A folder in `src`, a package, or a part of Node. */
  readonly group: string;
  readonly name: string;
}

export function profileFolder(benchmark: string): string {
  const folder = `${PROFILES}${benchmark.replace("/", "-")}/`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Returns self time by group and by function, with a pair of tables per profile. */
export function profileTables(folder: string): string {
  const files = readdirSync(folder).filter((file) => file.endsWith(".cpuprofile"));
  return files.map((file) => tableOf(file, readProfile(`${folder}${file}`))).join("\n\n");
}

function readProfile(file: string): Profiler.Profile {
  return JSON.parse(readFileSync(file, "utf8"));
}

function tableOf(title: string, profile: Profiler.Profile): string {
  const groups = new Map<string, number>();
  const functions = new Map<string, number>();
  let busy = 0;
  for (const [{ group, name }, us] of selfTimes(profile)) {
    if (name === IDLE) continue;
    busy += us;
    groups.set(group, (groups.get(group) ?? 0) + us);
    const label = `${name} (${group})`;
    functions.set(label, (functions.get(label) ?? 0) + us);
  }
  const all = `${title}: ${(busy / 1e6).toFixed(2)} s at work`;
  return [all, rows("group", groups, busy, GROUPS), rows("function", functions, busy, FUNCTIONS)]
    .join("\n\n")
    .trimEnd();
}

function rows(of: string, times: ReadonlyMap<string, number>, all: number, most: number): string {
  const sorted = [...times].sort(([, a], [, b]) => b - a).slice(0, most);
  const lines = sorted.map(([label, us]) => {
    return `| ${label.replaceAll("|", "\\|")} | ${((us / all) * 100).toFixed(1)} | ${(us / 1000).toFixed(0)} |`;
  });
  return [`| ${of} | self, % | ms |`, "|---|---:|---:|", ...lines].join("\n");
}

function selfTimes({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): [Place, number][] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((c) => [c, id])));
  const times = new Map<number, number>();
  samples.forEach((id, nth) => {
    // Each delta is the time before its sample, so a sample's own duration is the next delta.
    times.set(id, (times.get(id) ?? 0) + Math.max(0, timeDeltas[nth + 1] ?? 0));
  });
  return [...times].map(([id, us]) => [placeOf(id, byId, parents), us]);
}

/**
 * Attributes a native function, such as an SQLite statement, to its nearest caller in `src` or Node. Packages in
 * between are skipped.
 */
function placeOf(
  id: number,
  nodes: ReadonlyMap<number, Profiler.ProfileNode>,
  parents: ReadonlyMap<number, number>,
): Place {
  const frame = nodes.get(id)?.callFrame;
  const name = frame?.functionName || "(anonymous)";
  if (frame === undefined || frame.url !== "") return { group: groupOf(frame?.url ?? ""), name };
  if (name.startsWith("(") && name !== "(anonymous)") return { group: name, name };
  const isBetween = (url = "") => url === "" || url.includes("/node_modules/");
  let caller = parents.get(id);
  while (caller !== undefined && isBetween(nodes.get(caller)?.callFrame.url)) {
    caller = parents.get(caller);
  }
  const { functionName, url } = nodes.get(caller ?? id)?.callFrame ?? frame;
  return { group: `native, for ${groupOf(url)}`, name: `${name}, for ${functionName}` };
}

function groupOf(url: string): string {
  if (url.startsWith("node:")) return url.split("/").slice(0, 2).join("/");
  const path = url.startsWith(ROOT) ? url.slice(ROOT.length) : url;
  const [, dependency] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  return dependency ?? path.split("/").slice(0, -1).join("/");
}
