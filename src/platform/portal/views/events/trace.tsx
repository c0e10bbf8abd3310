import type { EventTrace, RunEntry } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { useLive } from "../../live/use-live.ts";
import { Code, Loaded, Time, Until } from "../../parts/bits.tsx";
import { span } from "../../parts/duration.ts";
import { Actions } from "./actions.tsx";
import { CallItem, DeliveryItem, Item } from "./items.tsx";
import { overview } from "./store.ts";
import { outcomeOfRun, type Story } from "./stories.ts";

interface TraceProps {
  readonly id: string;
  /** Without the payload and actions. */
  readonly isBrief?: boolean;
}

/** An event with its deliveries, the runs of its handler and the requests of the bot because of it. */
export function Trace({ id, isBrief = false }: TraceProps) {
  const story = overview.value.stories.get(id);
  const changed = story?.changedAt ?? "";
  const parts = story === undefined ? 0 : partsOf(story);
  const live = useLive(() => control.event(id), {
    key: id,
    concerns: (entry) => entry.kind === "state" || mentions(entry, id),
  });
  return (
    <div class="trace">
      <Loaded live={live}>
        {(detail) => (
          <Parts detail={detail} story={story} version={`${changed} ${parts}`} isBrief={isBrief} />
        )}
      </Loaded>
    </div>
  );
}

function partsOf({ deliveries, runs, calls }: Story): number {
  return deliveries.length + runs.length + calls.length;
}

function mentions(entry: object, id: string): boolean {
  const {
    id: own,
    eventId,
    eventIds = [],
  } = entry as {
    id?: string;
    eventId?: string;
    eventIds?: readonly string[];
  };
  return own === id || eventId === id || eventIds.includes(id);
}

interface PartsProps {
  readonly detail: EventTrace;
  readonly story: Story | undefined;
  /** Changes with the event. */
  readonly version: string;
  readonly isBrief: boolean;
}

function Parts({ detail, story, version, isBrief }: PartsProps) {
  const { event, bot, deliveries, calls, runs } = detail;
  const last = runs.at(-1);
  const isRetried = story?.retriedAfter === runs.length;
  const isDead = last?.outcome === "dead" && !isRetried && story?.discarded !== true;
  return (
    <>
      {(!isBrief || isDead) && <Actions detail={detail} isDead={isDead} isBrief={isBrief} />}
      <p class="hint">
        <code>{event.type}</code> <code>{event.id}</code> for @{bot}, {exact(event.createdAt)}
      </p>
      {last?.error !== undefined && !isRetried && <LastError run={last} runs={runs} />}
      <ol class="items" aria-label="What became of it">
        {deliveries.map((delivery) => (
          <DeliveryItem key={delivery.id} delivery={delivery} />
        ))}
        {deliveries.length === 0 && story?.read === true && (
          <li class="item">Read by polling. There was no delivery.</li>
        )}
        {runs.map((run) => (
          <RunItem key={run.seq} run={run} />
        ))}
        {calls.map((call) => (
          <CallItem key={call.id} call={call} />
        ))}
      </ol>
      {runs.length > 0 && <Steps id={event.id} version={version} />}
      {!isBrief && (
        <Item summary="Payload">
          {() => <Code text={JSON.stringify(event.payload)} label={`Payload of ${event.id}`} />}
        </Item>
      )}
    </>
  );
}

/** The error of the last run, with its stack and the time of the next try. */
function LastError({
  run,
  runs,
}: {
  readonly run: RunEntry & { at: string };
  readonly runs: readonly RunEntry[];
}) {
  const { error, retryInMs } = run;
  const stack = runs.findLast((each) => each.error?.stack !== undefined)?.error?.stack;
  const next =
    retryInMs === undefined ? undefined : new Date(Date.parse(run.at) + retryInMs).toISOString();
  return (
    <div class={run.outcome === "released" ? "note warn" : "failure"}>
      <p>
        <strong>{error?.type}</strong>
        {error?.code !== undefined && <code> {error.code}</code>}: {error?.message}
      </p>
      {next !== undefined && (
        <p>
          The next try is due <Until at={next} />.
        </p>
      )}
      {stack !== undefined && (
        <details open={run.outcome !== "released"}>
          <summary>Stack</summary>
          <pre>{stack}</pre>
        </details>
      )}
    </div>
  );
}

function RunItem({ run }: { readonly run: RunEntry & { readonly at: string } }) {
  const { tone, text } = outcomeOfRun(run);
  const next = run.retryInMs === undefined ? "" : `, next try after ${span(run.retryInMs)}`;
  return (
    <li class="item">
      <Time at={run.at} /> <span class="item-kind">Run</span>{" "}
      <span class={tone}>
        {text}
        {run.outcome !== "done" && ` · ${span(run.ms)}`}
        {next}
      </span>
    </li>
  );
}

/** Steps of the handler, as the bot's inbox has them. A bot that does not serve its inbox shows none. */
function Steps({ id, version }: { readonly id: string; readonly version: string }) {
  const { data } = useLive(() => control.inboxEvent(id), {
    key: `${id} ${version}`,
    concerns: () => false,
  });
  if (data === undefined || data.steps.length === 0) return null;
  return (
    <Item summary={`Steps (${data.steps.length})`}>
      {() => (
        <ul class="list">
          {data.steps.map(({ name, state, request }) => (
            <li key={name}>
              <code>{name}</code> <span class="grow hint">{request}</span>
              <span class={state === "open" ? "warn" : "hint"}>
                {state === "open" ? "began, result unknown" : "done"}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Item>
  );
}

function exact(at: string): string {
  return new Date(at).toLocaleString();
}
