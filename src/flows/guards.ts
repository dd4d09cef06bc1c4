import { type Token, TypeGuards, type Value } from 'liquidjs'
import { accessesOf, type Path } from './syntax-tree.ts'

/** The variables that are known to be present if a condition is true, and if it is false. */
export type Guards = { whenTrue: Path[]; whenFalse: Path[] }

type Operand = Guards & { path?: Path; literal?: Token }

const none: Operand = { whenTrue: [], whenFalse: [] }

export function guardsOf({ initial, filters }: Value): Guards {
  if (filters.length > 0) return none
  const operands: Operand[] = []
  for (const token of initial.postfix) {
    if (!TypeGuards.isOperatorToken(token)) operands.push(operandOf(token))
    else if (token.operator === 'not') operands.push(negated(operands.pop() ?? none))
    else {
      const right = operands.pop() ?? none
      operands.push(combined(token.operator, operands.pop() ?? none, right))
    }
  }
  return operands[0] ?? none
}

function operandOf(token: Token): Operand {
  if (!TypeGuards.isPropertyAccessToken(token)) return { ...none, literal: token }
  const [access] = accessesOf(token)
  if (!access) return none
  // `items.size` is present if `items` is.
  const ofList = ['size', 'first', 'last'].includes(String(access.path.at(-1)))
  const path = ofList ? access.path.slice(0, -1) : access.path
  return { path, whenTrue: [path], whenFalse: [] }
}

const negated = ({ whenTrue, whenFalse }: Operand): Operand => ({ whenTrue: whenFalse, whenFalse: whenTrue })

function combined(operator: string, left: Operand, right: Operand): Operand {
  switch (operator) {
    case 'and':
      return { whenTrue: [...left.whenTrue, ...right.whenTrue], whenFalse: [] }
    case 'or':
      return { whenTrue: [], whenFalse: [...left.whenFalse, ...right.whenFalse] }
    case '==':
      return equality(left, right)
    case '!=':
      return negated(equality(left, right))
    default:
      // Comparisons with a missing variable, and `contains` on it, are always false.
      return { whenTrue: [left, right].flatMap(({ path }) => (path ? [path] : [])), whenFalse: [] }
  }
}

function equality(left: Operand, right: Operand): Operand {
  const path = left.path ?? right.path
  const literal = left.literal ?? right.literal
  if (!path || !literal) return none
  return equalsMissing(literal) ? { whenTrue: [], whenFalse: [path] } : { whenTrue: [path], whenFalse: [] }
}

/** Only these three equal a missing variable; `empty` and `""` do not. */
export const equalsMissing = (literal: Token): boolean => ['nil', 'null', 'blank'].includes(literal.getText())
