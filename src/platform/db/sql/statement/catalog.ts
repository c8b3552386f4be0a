import { BoundedCache } from "../../../cache/bounded-cache.ts";
import type { Shape } from "./statement.ts";
import { ValueTypes } from "./value-types.ts";

const shapesMax = 5000;

/** The schema information that the connections of one pool share. */
export class Catalog {
  readonly types = new ValueTypes();
  private readonly parameterTypes = new BoundedCache<Shape, readonly number[]>(shapesMax);

  /** The types of a statement's parameters; undefined when PostgreSQL has to describe them. */
  parameterTypesOf(shape: Shape): readonly number[] | undefined {
    return shape.types.length === 0 ? shape.types : this.parameterTypes.get(shape);
  }

  keepParameterTypes(shape: Shape, types: readonly number[]): void {
    this.parameterTypes.set(shape, types);
  }

  removeParameterTypes(shape: Shape): void {
    this.parameterTypes.delete(shape);
  }
}
