import { addressOf, title, type View, views } from "../live/route.ts";

/** The views. */
export function Navigation({ current }: { readonly current: View }) {
  return (
    <nav aria-label="Views">
      {views.map((view, index) => (
        <a
          key={view}
          href={addressOf(view)}
          aria-current={view === current ? "page" : undefined}
          aria-keyshortcuts={String(index + 1)}
        >
          <span class="nav-icon" aria-hidden="true">
            {icons[view]}
          </span>
          {title(view)}
        </a>
      ))}
    </nav>
  );
}

const icons: Readonly<Record<View, string>> = {
  chat: "💬",
  posts: "📰",
  events: "⚡",
  webhook: "🔗",
  faults: "🧨",
  state: "🗃",
};
