import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Live } from "../live/use-live.ts";
import { Failure } from "./bits.tsx";
import { List, type ListProps } from "./list.tsx";

export interface CardProps {
  readonly title: ComponentChildren;
  readonly hint?: ComponentChildren;
  readonly head?: ComponentChildren;
  /** Source of the content. If it has an error, the card shows the error with a button to retry. */
  readonly live?: Pick<Live<unknown>, "error" | "reload">;
  readonly children?: ComponentChildren;
}

export function Card({ title, hint, head, live, children }: CardProps) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <div class="head">
        <h2 id={id}>{title}</h2>
        {head}
      </div>
      {hint !== undefined && <p class="hint">{hint}</p>}
      {live?.error !== undefined && <Failure error={live.error} retry={live.reload} />}
      {children}
    </section>
  );
}

export interface ListCardProps extends CardProps, ListProps {}

/** A list with its title and, below it, a form that adds an item. */
export function ListCard({ items, empty, more, children, ...card }: ListCardProps) {
  return (
    <Card {...card}>
      <List items={items} empty={empty} more={more} />
      {children}
    </Card>
  );
}
