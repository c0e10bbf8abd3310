import type { CronView, Page, StateView, TimelineEntry, TimerView } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { machineOffset } from "../../live/second.ts";
import { bot } from "../../live/settings.ts";
import { type Pages, usePages } from "../../live/use-pages.ts";
import { Code, Time, Until } from "../../parts/bits.tsx";
import { bytes } from "../../parts/duration.ts";
import { Action } from "../../parts/form.tsx";
import { Item } from "../../parts/list.tsx";

/** Reload after runs, because a run changes states and timers, and a fired timer causes a run. */
const concerns = ({ kind }: TimelineEntry) => kind === "run" || kind === "state";

export function useStates(prefix: string): Pages<StateView> {
  const read = (cursor?: string) => control.inbox.states({ prefix, cursor });
  return usePages(read, { key: `${bot.value} ${prefix}`, concerns });
}

/** @param lane default: all lanes */
export function useTimers(lane?: string): Pages<TimerView> {
  const read = (cursor?: string): Promise<Page<TimerView>> =>
    control.inbox.timers({ cursor, lane });
  return usePages(read, { key: `${bot.value} ${lane}`, concerns });
}

export function useCrons(): Pages<CronView> {
  const read = async () => ({ ...(await control.inbox.crons()), nextCursor: null });
  return usePages(read, { key: bot.value, concerns });
}

export function stateItem({ key, value, bytes: size, updatedAt }: StateView, isOpen = false) {
  return (
    <Item key={key}>
      <details open={isOpen}>
        <summary>
          <code>{key}</code> <span class="hint">{bytes(size)}</span>{" "}
          <Time at={updatedAt} by={machineOffset} />
        </summary>
        <Code text={value} label={`State of ${key}`} />
        {value.length < size && (
          <p class="hint">
            To see the whole state: <code>npx service-bot inbox state '{key}'</code>
          </p>
        )}
      </details>
    </Item>
  );
}

/** A row includes the key if several timers share a lane and name. */
export function timerItems(timers: readonly TimerView[]) {
  return timers.map(({ lane, name, key, dueAt }) => {
    const same = timers.filter((each) => each.lane === lane && each.name === name);
    const ownKey = same.length === 1 ? "" : ` ${key}`;
    const fire = () => control.inbox.fireTimers({ lane, name, key });
    const actions = (
      <>
        <span>
          due <Until at={dueAt} by={machineOffset} />
        </span>
        <FireNow name={`${name} in ${lane}${ownKey}`} fire={fire} />
      </>
    );
    return (
      <Item key={`${lane} ${name} ${key}`} actions={actions}>
        <strong>{name}</strong> <code>{lane}</code>
        <span class="hint">{ownKey}</span>
      </Item>
    );
  });
}

interface FireNowProps {
  readonly name: string;
  readonly fire: () => Promise<unknown>;
}

export function FireNow({ name, fire }: FireNowProps) {
  return (
    <Action small run={fire} label={`Fire now: ${name}`}>
      Fire now
    </Action>
  );
}
