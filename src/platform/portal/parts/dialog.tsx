import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Icon } from "./icon.tsx";
import { dialogs, Toasts } from "./toast.tsx";

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
  /** Ignores Escape and clicks outside the dialog, because its content is shown only once. */
  readonly firm?: boolean;
}

export function Dialog({ title, onClose, children, wide = false, firm = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    dialogs.value = dialogs.peek() + 1;
    return () => {
      dialogs.value = dialogs.peek() - 1;
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser closes the dialog on Escape
    <dialog
      ref={element}
      class={wide ? "wide" : ""}
      aria-labelledby={heading}
      onClose={onClose}
      onCancel={(event) => {
        if (firm) event.preventDefault();
      }}
      onClick={({ target }) => {
        if (target === element.current && !firm) onClose();
      }}
    >
      <div class="dialog">
        <header class="head">
          <h2 id={heading}>{title}</h2>
          <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
      <Toasts inDialog />
    </dialog>
  );
}
