import { useEffect, useRef, useState } from "preact/hooks";

/** The service's response to typed text. */
export interface TypedQuery<Data> {
  readonly data?: Data;
  readonly error?: Error;
}

const pauseMs = 250;

/**
 * Reads data that depends on typed text, when the typing pauses. The last response stays until the next one arrives. Without a
 * key nothing is read.
 */
export function useTypedQuery<Data>(key: string | undefined, read: () => Promise<Data>): TypedQuery<Data> {
  const [state, setState] = useState<TypedQuery<Data>>({});
  const latest = useRef(read);
  latest.current = read;
  useEffect(() => {
    if (key === undefined) {
      setState({});
      return;
    }
    let isOld = false;
    const timer = setTimeout(() => {
      latest.current().then(
        (data) => isOld || setState({ data }),
        (error: Error) => isOld || setState({ error }),
      );
    }, pauseMs);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [key]);
  return state;
}
