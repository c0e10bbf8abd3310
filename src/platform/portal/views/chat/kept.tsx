import { control } from "../../api/control.ts";
import { bot } from "../../live/settings.ts";
import { useLive } from "../../live/use-live.ts";
import { Code, Time, Until } from "../../parts/bits.tsx";

export interface KeptProps {
  /** A conversation or a post. Default: everything. */
  readonly of?: string | undefined;
}

/** States and timers of the bot. A bot that does not serve its inbox shows none. */
export function Kept({ of }: KeptProps) {
  const { data } = useLive(control.kept, {
    key: bot.value,
    concerns: ({ kind }) => kind === "run" || kind === "state",
  });
  const isOf = (place: string) => of === undefined || place.split(/[:/]/).includes(of);
  const states = data?.states.filter(({ key }) => isOf(key)) ?? [];
  const timers = data?.timers.filter(({ lane }) => isOf(lane)) ?? [];
  if (states.length + timers.length === 0) return null;
  return (
    <section class="stack" aria-label="State and timers">
      <h2>State and timers</h2>
      {states.map(({ key, value, updatedAt }) => (
        <div key={key} class="stack">
          <p>
            <code>{key}</code> <Time at={updatedAt} />
          </p>
          <Code text={value} label={`State of ${key}`} />
        </div>
      ))}
      <ul class="list">
        {timers.map(({ lane, name, key, dueAt }) => (
          <li key={`${lane} ${name} ${key}`}>
            <span class="grow">
              <strong>{name}</strong> <code>{lane}</code>
            </span>
            <span>
              due <Until at={dueAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
