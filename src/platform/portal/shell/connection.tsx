import { connection } from "../live/stream.ts";

/** Says that what is shown may be old. */
export function ConnectionNote() {
  return (
    <div role="status" class="connection">
      {connection.value === "lost" && (
        <p class="failure">
          The connection to the platform is lost; it is tried again by itself. Was it stopped? Start
          it again with <code>npm run dev</code>.
        </p>
      )}
    </div>
  );
}
