import { addressOf } from "../../../live/route.ts";

/** A time with its date. */
export function Moment({ at }: { readonly at: string }) {
  return <time dateTime={at}>{new Date(at).toLocaleString()}</time>;
}

/** To the details of an event. */
export function EventLink({ id }: { readonly id: string }) {
  return (
    <a class="mono event-link" href={addressOf("events", id)}>
      {id}
    </a>
  );
}
