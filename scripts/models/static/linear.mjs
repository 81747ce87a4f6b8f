/** The linear algebra of a distillation. Matrices are rows one after the other in one typed array. */

export function meanRow(rows, width) {
  const mean = new Float64Array(width)
  const count = rows.length / width
  for (let at = 0; at < rows.length; at++) mean[at % width] += rows[at] / count
  return mean
}

/** The rows with a share of their mean taken away. */
export function lessMean(rows, mean, share) {
  return rows.map((value, at) => value - share * mean[at % mean.length])
}

/** The `count` directions along which rows are longest, longest first: orthogonal iteration on their inner products. */
export function mainDirections(rows, width, count, rounds = 40) {
  const products = innerProducts(rows, width)
  let directions = Array.from({ length: count }, (_, index) =>
    // Any beginning does that has a share of every direction.
    Float64Array.from({ length: width }, (_, at) => Math.sin(1 + index * width + at * at)),
  )
  for (let round = 0; round < rounds; round++) {
    directions = directions.map((direction) => timesMatrix(direction, products, width))
    directions.forEach((direction, index) => {
      for (const earlier of directions.slice(0, index)) {
        const shared = dot(direction, earlier)
        for (let at = 0; at < width; at++) direction[at] -= shared * earlier[at]
      }
      scaleToUnit(direction)
    })
  }
  return directions
}

/** Each row by its shares of the directions. */
export function project(rows, width, directions) {
  const count = rows.length / width
  const projected = new Float32Array(count * directions.length)
  for (let row = 0; row < count; row++) {
    const own = rows.subarray(row * width, (row + 1) * width)
    directions.forEach((direction, index) => {
      projected[row * directions.length + index] = dot(own, direction)
    })
  }
  return projected
}

export function unitRows(rows, width) {
  for (let begin = 0; begin < rows.length; begin += width) {
    scaleToUnit(rows.subarray(begin, begin + width))
  }
  return rows
}

/**
 * The linear map from rows of `inputs` to rows of `outputs` with the least squared error, where large numbers in the
 * map count as errors too (ridge regression).
 */
export function fitLinearMap(inputs, inputWidth, outputs, outputWidth, penalty) {
  const left = innerProducts(inputs, inputWidth)
  for (let at = 0; at < inputWidth; at++) left[at * inputWidth + at] += penalty
  const right = new Float64Array(inputWidth * outputWidth)
  for (let row = 0; row < inputs.length / inputWidth; row++) {
    for (let a = 0; a < inputWidth; a++) {
      const value = inputs[row * inputWidth + a]
      for (let b = 0; b < outputWidth; b++) {
        right[a * outputWidth + b] += value * outputs[row * outputWidth + b]
      }
    }
  }
  return solve(left, inputWidth, right, outputWidth)
}

/** One row through a map that `fitLinearMap` found. */
export function mapped(row, map, outputWidth) {
  const result = new Float64Array(outputWidth)
  row.forEach((value, a) => {
    for (let b = 0; b < outputWidth; b++) result[b] += value * map[a * outputWidth + b]
  })
  return result
}

/** Gauss–Jordan elimination. The matrix is positive definite, so no rows have to be exchanged. */
function solve(matrix, size, right, width) {
  for (let pivot = 0; pivot < size; pivot++) {
    const divisor = matrix[pivot * size + pivot]
    for (let at = pivot; at < size; at++) matrix[pivot * size + at] /= divisor
    for (let at = 0; at < width; at++) right[pivot * width + at] /= divisor
    for (let row = 0; row < size; row++) {
      const factor = matrix[row * size + pivot]
      if (row === pivot || factor === 0) continue
      for (let at = pivot; at < size; at++) {
        matrix[row * size + at] -= factor * matrix[pivot * size + at]
      }
      for (let at = 0; at < width; at++)
        right[row * width + at] -= factor * right[pivot * width + at]
    }
  }
  return right
}

function innerProducts(rows, width) {
  const products = new Float64Array(width * width)
  for (let begin = 0; begin < rows.length; begin += width) {
    for (let a = 0; a < width; a++) {
      const value = rows[begin + a]
      for (let b = 0; b < width; b++) products[a * width + b] += value * rows[begin + b]
    }
  }
  return products
}

function timesMatrix(row, matrix, width) {
  const result = new Float64Array(width)
  for (let a = 0; a < width; a++) {
    for (let b = 0; b < width; b++) result[b] += row[a] * matrix[a * width + b]
  }
  return result
}

function scaleToUnit(row) {
  const length = Math.sqrt(dot(row, row)) || 1
  for (let at = 0; at < row.length; at++) row[at] /= length
}

function dot(a, b) {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += a[at] * b[at]
  return sum
}
