import { useEffect, useRef, useState } from "preact/hooks";

/** What the service says about a text that somebody types. */
export interface TypedQuery<Data> {
  readonly data?: Data;
  readonly error?: Error;
}

const pauseMs = 250;

/**
 * Reads data that depends on what somebody types, when they pause. The last answer stays until the next one is there. Without a
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
