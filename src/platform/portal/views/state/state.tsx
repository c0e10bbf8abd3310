import { useSignal } from "@preact/signals";
import { control } from "../../api/control.ts";
import { machineOffset } from "../../live/second.ts";
import { Failure, Time, Until } from "../../parts/bits.tsx";
import { ListCard } from "../../parts/card.tsx";
import { Item, Search } from "../../parts/list.tsx";
import { FireNow, stateItem, timerItems, useCrons, useStates, useTimers } from "./lists.tsx";

export function State() {
  const crons = useCrons();
  const { data, error, reload } = crons;
  return (
    <>
      <h1>State</h1>
      {data === undefined && error !== undefined && <Failure error={error} retry={reload} />}
      {data !== undefined && (
        <>
          <Crons crons={crons} />
          <Timers />
          <States />
        </>
      )}
    </>
  );
}

function Crons({ crons }: { readonly crons: ReturnType<typeof useCrons> }) {
  return (
    <ListCard
      title="Cron"
      live={crons}
      empty={<p class="hint">No crons. Use bot.cron to run a handler on a schedule.</p>}
      items={crons.data?.map(({ name, pattern, timeZone, nextAt, last }) => (
        <Item
          key={name}
          actions={<FireNow name={name} fire={() => control.inbox.fireCron(name)} />}
        >
          <strong>{name}</strong> <code>{pattern}</code> <span class="hint">{timeZone}</span>
          <p class="hint">
            next {nextAt === null ? "never" : <Until at={nextAt} by={machineOffset} />}
            {last !== null && (
              <>
                , last <Time at={last.at} by={machineOffset} />{" "}
                <span class={last.state === "dead" ? "bad" : ""}>{outcomes[last.state]}</span>
              </>
            )}
          </p>
        </Item>
      ))}
    />
  );
}

const outcomes = {
  pending: "being handled",
  done: "done",
  dead: "dead letter",
  discarded: "discarded",
} as const;

function Timers() {
  const timers = useTimers();
  return (
    <ListCard
      title="Timers"
      live={timers}
      more={timers.more}
      empty={
        <p class="hint">No timers. Set a timer with ctx.later, and handle it with bot.onTimer.</p>
      }
      items={timers.data && timerItems(timers.data)}
    />
  );
}

function States() {
  const prefix = useSignal("");
  const states = useStates(prefix.value);
  const isSearch = prefix.value !== "";
  return (
    <ListCard
      title="States"
      live={states}
      more={states.more}
      head={
        (isSearch || states.data?.length !== 0) && (
          <Search label="Search states" placeholder="Beginning of the key" text={prefix} />
        )
      }
      empty={
        <p class="hint">
          {isSearch
            ? "No key begins with this text."
            : "No states. Store values for a conversation with ctx.state()."}
        </p>
      }
      items={states.data?.map((state) => stateItem(state))}
    />
  );
}
