import { connection, refusal } from "../live/stream.ts";

/** Says that what is shown may be old. */
export function ConnectionNote() {
  return (
    <div role="status" class="connection">
      {connection.value === "lost" && refusal.value !== "" && (
        <p class="failure">{refusal.value}</p>
      )}
      {connection.value === "lost" && refusal.value === "" && (
        <p class="failure">
          The connection to the platform is lost; it is tried again by itself. Was it stopped? Start
          it again with <code>npm run dev</code>.
        </p>
      )}
    </div>
  );
}
