package tds

import "encoding/binary"

// AppendFeatureExtAck appends the features that the server agrees to. Those
// left out are declined; with none at all the token is not sent.
func AppendFeatureExtAck(dst []byte, features []Feature) []byte {
	if len(features) == 0 {
		return dst
	}
	dst = append(dst, tokenFeatureExtAck)
	for _, f := range features {
		dst = binary.LittleEndian.AppendUint32(append(dst, f.ID), uint32(len(f.Data)))
		dst = append(dst, f.Data...)
	}
	return append(dst, featureTerminator)
}
