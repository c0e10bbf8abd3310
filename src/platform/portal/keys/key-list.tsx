import { Dialog } from "../parts/dialog.tsx";
import { keys } from "./keys.ts";

export function KeyList({ onClose }: { readonly onClose: () => void }) {
  const groups = Map.groupBy(keys.value, ({ group }) => group);
  return (
    <Dialog title="Keys" onClose={onClose}>
      <p class="hint">Shortcuts work outside text fields. Press Escape to leave a text field.</p>
      {[...groups].map(([group, members]) => (
        <section key={group}>
          <h3>{group}</h3>
          <dl>
            {members.map(({ key, label }) => (
              <div key={key}>
                <dt>
                  <kbd>{key === " " ? "Space" : key}</kbd>
                </dt>
                <dd>{label}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
