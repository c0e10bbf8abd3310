import { useRef } from "preact/hooks";

export interface FileButtonProps {
  /** What the button says. */
  readonly label: string;
  /** What the files are, where the button does not say so. */
  readonly name?: string;
  /** As in the `accept` of a file input. */
  readonly accept: string;
  readonly multiple?: boolean;
  readonly onFiles: (files: readonly File[]) => void;
}

/** Lets files be chosen; the same ones can be chosen again. */
export function FileButton(props: FileButtonProps) {
  const { label, name = label, accept, multiple = false, onFiles } = props;
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        multiple={multiple}
        accept={accept}
        aria-label={name}
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])];
          currentTarget.value = "";
          onFiles(files);
        }}
      />
      <button type="button" onClick={() => input.current?.click()}>
        {label}
      </button>
    </>
  );
}
