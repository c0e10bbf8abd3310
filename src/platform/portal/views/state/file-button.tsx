import { useId } from "preact/hooks";

interface FileButtonProps {
  readonly label: string;
  /** As in the `accept` of a file input. */
  readonly accept: string;
  readonly onFile: (file: File) => unknown;
}

/** Lets a file be chosen; the same one can be chosen again. */
export function FileButton({ label, accept, onFile }: FileButtonProps) {
  const id = useId();
  return (
    <span class="file-button">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="file"
        accept={accept}
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          currentTarget.value = "";
          if (file !== undefined) void onFile(file);
        }}
      />
    </span>
  );
}
