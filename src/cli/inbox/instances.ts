import { printable } from "../../core/terminal.ts";
import type { InstanceReport, SharedReport } from "../../inbox/shared.ts";
import { age, count, table } from "../text.ts";

/** Which instances there are, and which one reads the event log. */
export function instancesText({ instances, poller, endedLastMinute }: SharedReport): string {
  const handled = `${count(endedLastMinute, "event")} ended in the last minute`;
  if (instances.length === 0) return handled;
  const rows = instances.map((instance) => rowOf(instance, poller));
  const term = poller?.holder === undefined ? "nobody reads the event log" : termText(poller);
  return [
    table(["INSTANCE", "HOST", "PID", "VERSION", "STARTED", "EVENT LOG"], rows),
    "",
    term,
    handled,
  ].join("\n");
}

function rowOf(
  { id, host, pid, version, startedMsAgo }: InstanceReport,
  poller: SharedReport["poller"],
): string[] {
  const started = age(0, startedMsAgo);
  const reads = poller?.holder === id ? "reads it" : "";
  return [id.slice(0, 8), printable(host), String(pid), printable(version), started, reads];
}

function termText({ term, expiresInMs }: NonNullable<SharedReport["poller"]>): string {
  return `the event log is read in term ${term}; its lease holds for ${Math.ceil(expiresInMs / 1_000)} s unless it is renewed`;
}
