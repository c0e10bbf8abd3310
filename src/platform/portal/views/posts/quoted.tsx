import type { ControlPost } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { addressOf } from "../../live/route.ts";
import { useLive } from "../../live/use-live.ts";
import { Failure } from "../../parts/bits.tsx";
import { ContentBody } from "./content-body.tsx";

export interface QuotedProps {
  readonly id: string;
  /** What is known without asking. */
  readonly known: ControlPost | undefined;
}

/** The post that another one quotes. */
export function Quoted({ id, known }: QuotedProps) {
  return (
    <blockquote class="quoted" aria-label="Quoted post">
      {known === undefined ? (
        <Asked id={id} />
      ) : (
        <ContentBody content={known} href={addressOf("posts", id)} />
      )}
    </blockquote>
  );
}

function Asked({ id }: { readonly id: string }) {
  const { data, error } = useLive(() => control.post(id), { key: id, concerns: () => false });
  if (error !== undefined) return <Failure error={error} />;
  if (data === undefined) return <p class="hint">Reading {id}…</p>;
  return <ContentBody content={data} href={addressOf("posts", id)} />;
}
