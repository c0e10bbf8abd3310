import type { ComponentChildren } from "preact";
import { Badge, Time } from "../../parts/bits.tsx";
import { duration } from "../../parts/duration.ts";
import { Facts } from "../../parts/facts.tsx";
import type { BotStatus, InstancesPart } from "./bot-status.ts";

/** The status of a bot in its own words (docs/operating.md). */
export function BotFacts({ status, url }: { status: BotStatus; url: string | null }) {
  const { ready, modeSince, modeReason, lastDeliveryAt, log, inbox, requests } = status;
  const rows: readonly (readonly [string, ComponentChildren])[] = [
    ["Address", url === null ? undefined : <code>{url}</code>],
    ["Ready", <Badge tone={ready ? "good" : "bad"}>{ready ? "yes" : "no"}</Badge>],
    ["Since", <At time={modeSince} none="unknown" />],
    ["Why", modeReason],
    ["Last delivery", <At time={lastDeliveryAt} none="none yet" />],
    ["Cursor", log === null ? "the log is never read" : <code>{log.cursor ?? "none yet"}</code>],
    ["Last read", log === null ? undefined : <At time={log.lastPollAt} none="none yet" />],
    ["Lag", log === null ? undefined : lag(log.lagMs)],
    ["Read failed", log?.lastPollError ?? undefined],
    ["Backlog", inbox === null ? "unknown" : backlog(inbox.pending, inbox.oldestPendingAgeMs)],
    ["Dead letters", inbox === null ? "unknown" : String(inbox.deadLetters)],
    [
      "Requests",
      requests === null
        ? "no budget (MAX_REQUESTS_PER_MINUTE)"
        : `${requests.left} of ${requests.perMinute} left this minute, ${requests.waiting} wait`,
    ],
  ];
  return (
    <>
      <Facts of={rows} />
      {status.instances !== null && <Instances of={status.instances} />}
    </>
  );
}

function At({ time, none }: { readonly time: string | null; readonly none: string }) {
  return time === null ? <span>{none}</span> : <Time at={time} />;
}

function lag(ms: number | null): string {
  return ms === null ? "the end was not reached yet" : `read to its end ${duration(ms)} before`;
}

function backlog(pending: number, oldestMs: number | null): string {
  if (pending === 0 || oldestMs === null) return `${pending} events`;
  return `${pending} events, the oldest for ${duration(oldestMs)}`;
}

function Instances({ of }: { readonly of: InstancesPart }) {
  return (
    <>
      <h3>
        Instances ({of.list.length}), {of.endedLastMinute} events ended in the last minute
      </h3>
      <ul class="list">
        {of.list.map(({ id, version, startedAt }) => (
          <li key={id}>
            <code class="grow">{id}</code> {version}
            {startedAt !== null && <Time at={startedAt} />}
            {id === of.self && <Badge>answered</Badge>}
            {id === of.reader && <Badge tone="good">reads the log</Badge>}
          </li>
        ))}
      </ul>
    </>
  );
}
