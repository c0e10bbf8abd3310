import type { ComponentChildren } from "preact";
import { addressOf } from "../../../live/route.ts";

export type Fact = readonly [name: string, value: ComponentChildren];

/** What is known, each with its name. What is undefined is left out. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** A time with its date. */
export function Moment({ at }: { readonly at: string }) {
  return <time dateTime={at}>{new Date(at).toLocaleString()}</time>;
}

export function EventLink({ id }: { readonly id: string }) {
  return (
    <a class="mono event-link" href={addressOf("events", id)}>
      {id}
    </a>
  );
}
