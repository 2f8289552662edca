"""Draws a HyperConverged as people write it: which fields, how often and with which values is counted in written.json."""
import json, os

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "written.json")) as f:
    COUNTS = json.load(f)
SURPRISE = 0.2  # of the values are another one that the schema allows


def spec(version, schema, r, other):
    """A spec for a version; `other` draws a value from a schema, for what nobody was seen to write."""
    return field(COUNTS["spec"].get(version) or COUNTS["spec"]["v1beta1"], schema, "", r, other)


def field(counted, schema, name, r, other):
    schema = schema or {}
    if "fields" in counted:
        inner = schema.get("properties") or {}
        free = schema.get("additionalProperties")
        # A field that one of a hundred writes would hardly be drawn.
        share = lambda c: max(c["count"] / counted["count"], 0.1)
        return {n: field(c, inner.get(n, free if isinstance(free, dict) else None), n, r, other)
                for n, c in counted["fields"].items() if r.random() < share(c)}
    if "items" in counted:
        values = [field(counted["items"], schema.get("items"), name, r, other) for _ in range(r.choice((1, 1, 1, 2, 3)))]
        return [v for i, v in enumerate(values) if v not in values[:i]]
    if schema and (r.random() < SURPRISE or not counted["values"]):
        return other(schema, name)
    return pick(counted["values"], r)


def annotations(r):
    return {name: pick(values, r) for name, values in COUNTS["annotations"].items() if r.random() < 0.05}


def patch(annotation, r):
    """An operation that somebody wrote into a jsonpatch annotation, or None."""
    written = COUNTS["patches"].get(annotation)
    return json.loads(pick(written, r)) if written else None


def pick(values, r):
    return r.choices([v for v, _ in values], [n for _, n in values])[0] if values else ""
