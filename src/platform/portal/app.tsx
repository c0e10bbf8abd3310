import { useEffect, useRef, useState } from "preact/hooks";
import { KeyList } from "./keys/key-list.tsx";
import { useKeys } from "./keys/keys.ts";
import { go, route, title, type View, views } from "./live/route.ts";
import { SecretDialog } from "./parts/secrets.tsx";
import { Toasts } from "./parts/toast.tsx";
import { actKeys } from "./shell/act-keys.ts";
import { Banners } from "./shell/banner.tsx";
import { ConnectionNote } from "./shell/connection.tsx";
import { Side } from "./shell/side.tsx";
import { Chat } from "./views/chat/chat.tsx";
import { Events } from "./views/events/events.tsx";
import { failedCount } from "./views/events/store.ts";
import { Faults } from "./views/faults/faults.tsx";
import { Settings } from "./views/settings/settings.tsx";
import { State } from "./views/state/state.tsx";
import { Webhook } from "./views/webhook/webhook.tsx";

const pages: Readonly<Record<View, () => preact.JSX.Element>> = {
  chat: Chat,
  events: Events,
  state: State,
  webhook: Webhook,
  faults: Faults,
  settings: Settings,
};

export function App() {
  const [keysShown, showKeys] = useState(false);
  const { view } = route.value;
  const Page = pages[view];
  useKeys([
    ...views.map((name, index) => ({
      key: String(index + 1),
      label: title(name),
      group: "Views",
      run: () => go(name),
    })),
    { key: "?", label: "This list", group: "Views", run: () => showKeys(true) },
    ...actKeys,
  ]);
  const main = useRef<HTMLElement>(null);
  const failed = failedCount.value;
  useEffect(() => {
    const trouble = failed === 0 ? "" : `(${failed} failed) `;
    document.title = `${trouble}${title(view)} · service-bot portal`;
  }, [view, failed]);
  useEffect(() => main.current?.scrollTo(0, 0), [view]);
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={skip}>
        Skip to content
      </button>
      <Side current={view} onKeys={() => showKeys(true)} />
      <main ref={main} id="main" tabIndex={-1} class={`view-${view}`}>
        <ConnectionNote />
        <Banners />
        <Page />
      </main>
      <SecretDialog />
      <Toasts />
      {keysShown && <KeyList onClose={() => showKeys(false)} />}
    </div>
  );
}

function skip(): void {
  document.getElementById("main")?.focus();
}
