import type { Signal } from "@preact/signals";
import type { ComponentChildren, Ref, VNode } from "preact";
import { Action } from "./form.tsx";

export interface ListProps {
  /** Accessible name. */
  readonly label?: string;
  /** CSS class. Default "list". */
  readonly look?: string;
  /** Shown instead of an empty list. */
  readonly empty?: ComponentChildren;
  /** Shows more items. Omitted or `undefined` if all items are in the list. */
  readonly more?: (() => unknown) | undefined;
  /** Label of the button that shows more items. Default "Show more". */
  readonly moreLabel?: ComponentChildren;
  readonly element?: Ref<HTMLUListElement>;
  /** `undefined` until the items are read. */
  readonly items: readonly VNode[] | undefined;
}

export function List(props: ListProps) {
  const { label, look = "list", empty, more, moreLabel = "Show more", element, items } = props;
  return (
    <>
      {items?.length === 0 && empty !== undefined ? (
        empty
      ) : (
        <ul ref={element ?? null} class={look} aria-label={label}>
          {items}
        </ul>
      )}
      {more !== undefined && <Action run={more}>{moreLabel}</Action>}
    </>
  );
}

export interface ItemProps {
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Item({ actions, children }: ItemProps) {
  return (
    <li>
      <div class="grow">{children}</div>
      {actions}
    </li>
  );
}

export interface SearchProps {
  readonly label: string;
  readonly placeholder: string;
  readonly text: Signal<string>;
  readonly element?: Ref<HTMLInputElement>;
}

/** Search field of a list. */
export function Search({ label, placeholder, text, element }: SearchProps) {
  return (
    <input
      ref={element ?? null}
      type="search"
      aria-label={label}
      placeholder={placeholder}
      value={text.value}
      onInput={({ currentTarget }) => {
        text.value = currentTarget.value;
      }}
    />
  );
}
